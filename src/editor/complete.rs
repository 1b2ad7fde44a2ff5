//! What can be written at a place.
