"""Free text scored by a model and by experts, on CMB's four aspects (section 3.3), and whether the two agree."""
