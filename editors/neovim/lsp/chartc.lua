-- The language server, as Neovim 0.11 and later find it. `vim.lsp.config('chartc', { cmd = { '/path/to/chartc', 'lsp' } })`
-- names another binary.
return {
  cmd = { 'chartc', 'lsp' },
  filetypes = { 'chart' },
  root_markers = { 'chartc.toml', '.git' },
}
