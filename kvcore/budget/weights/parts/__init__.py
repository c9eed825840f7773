"""Building blocks of networks: attention, feed-forward layers, experts, states and towers, as vLLM creates them."""
