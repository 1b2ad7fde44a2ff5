-- Opens a chart and prints the highlights of some of its words, one a line: `line:column word captures`.
-- FILE names the chart. The package is installed where Neovim looks for packages.
vim.opt.swapfile = false
vim.cmd('edit ' .. vim.env.FILE)
print('filetype ' .. vim.bo.filetype)
print('commentstring ' .. vim.bo.commentstring)
local parser = vim.treesitter.get_parser(0, 'chart')
parser:parse(true)
print('errors ' .. tostring(parser:trees()[1]:root():has_error()))
for row, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
  for column, word in line:gmatch('()([%w_]+)') do
    local names = {}
    for _, capture in ipairs(vim.treesitter.get_captures_at_pos(0, row - 1, column - 1)) do
      names[#names + 1] = capture.capture
    end
    print(('%d:%d %s %s'):format(row, column, word, table.concat(names, ' ')))
  end
end
vim.wo.foldmethod = 'expr'
vim.wo.foldexpr = 'v:lua.vim.treesitter.foldexpr()'
vim.cmd('normal! zx')
for row = 1, vim.fn.line('$') do
  print(('fold %d %d'):format(row, vim.fn.foldlevel(row)))
end
