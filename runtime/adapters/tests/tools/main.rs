//! Pools against servers: those that many use, and one that misbehaves.

mod check;
mod configured;
mod hostile;
mod programs;
mod support;
mod web;
mod well_known;
