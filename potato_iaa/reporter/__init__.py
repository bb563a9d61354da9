"""The reporter: shows an Agreement in the terminal and in files, and computes nothing."""
