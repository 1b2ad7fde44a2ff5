-- How charts are written: `chartc fmt` indents by two blanks.
vim.bo.commentstring = '// %s'
vim.bo.comments = ':///,://'
vim.bo.expandtab = true
vim.bo.shiftwidth = 2
vim.bo.softtabstop = 2
vim.bo.smartindent = true
vim.b.undo_ftplugin = 'setlocal commentstring< comments< expandtab< shiftwidth< softtabstop< smartindent<'

-- Colours by the grammar, where its parser is installed.
if pcall(vim.treesitter.start, 0, 'chart') then
  vim.b.undo_ftplugin = vim.b.undo_ftplugin .. ' | lua vim.treesitter.stop()'
end
