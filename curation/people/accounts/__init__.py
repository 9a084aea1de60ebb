"""How people and programs are recognised: tokens, slow guessing of passwords, the address of a visitor."""
