-- The language server, as Neovim 0.11 and later find it: for charts, agents and SCXML documents, by their names.
-- `vim.lsp.config('chartc', { cmd = { '/path/to/chartc', 'lsp' } })` names another binary.
return {
  cmd = { 'chartc', 'lsp' },
  filetypes = { 'chart', 'yaml', 'xml' },
  root_dir = function(buffer, on_dir)
    if require('chartc').reads(buffer) then
      on_dir(vim.fs.root(buffer, { 'chartc.toml', '.git' }))
    end
  end,
}
