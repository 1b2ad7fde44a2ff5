//! The default styles of a digraph.

/// The fill of a cluster; it alternates with the depth, so that nested clusters can be told apart.
pub(super) const fn cluster_fill(depth: usize) -> &'static str {
    if depth.is_multiple_of(2) { "#f8fafc" } else { "#eef2f7" }
}

/// The head of a digraph, with the default attributes.
pub(super) const HEAD: &str = "  compound=true;
  graph [fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, labelloc=t, labeljust=l, nodesep=0.4, ranksep=0.55];
  node [fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, shape=box, style=\"rounded,filled\", fillcolor=white, color=\"#475569\", margin=\"0.12,0.06\"];
  edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=9, arrowsize=0.7];
";
