"""The tutorial, walked: its page is read, its commands are run, what they print is compared.

`python -m walkthrough` in this folder's parent writes the page's outputs and pictures anew.
"""
