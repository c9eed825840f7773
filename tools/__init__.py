"""What builds, previews and measures the project; none of it is installed with kvcore."""
