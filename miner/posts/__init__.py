"""Questions of Stack Overflow and its sister sites, with answers and comments."""
