//! What is known about the name at a place.
