//! Tools without a server: commands and HTTP endpoints.
