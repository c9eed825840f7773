"""How far kvcore agrees with the engines: every golden point and log, asked again when the site is built."""
