"""What a server offers, as its author declares it: tools, resources, prompts, completions."""
