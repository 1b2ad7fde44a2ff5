//! What can be done with a declaration: run a test, show a picture.
