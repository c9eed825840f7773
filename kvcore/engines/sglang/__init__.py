"""SGLang: how the second engine divides a GPU's free memory into token and state pools."""
