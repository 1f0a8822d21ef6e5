"""What the papers do not do: specifications, crowds and experts, study design."""
