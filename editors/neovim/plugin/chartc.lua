if vim.g.loaded_chartc then
  return
end
vim.g.loaded_chartc = true

if vim.lsp.enable then
  vim.lsp.enable('chartc')
  return
end

-- Before 0.11 each buffer starts the server itself, or joins the one that is running for its folder.
vim.api.nvim_create_autocmd('FileType', {
  pattern = 'chart',
  callback = function(event)
    local file = vim.api.nvim_buf_get_name(event.buf)
    local folder = file ~= '' and vim.fs.dirname(file) or vim.loop.cwd()
    local marker = vim.fs.find({ 'chartc.toml', '.git' }, { path = folder, upward = true })[1]
    vim.lsp.start({
      name = 'chartc',
      cmd = vim.g.chartc_cmd or { 'chartc', 'lsp' },
      root_dir = marker and vim.fs.dirname(marker) or folder,
    })
  end,
})
