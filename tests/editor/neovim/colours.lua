-- Opens a chart and prints the highlights of some of its words, one a line: `line:column word captures`.
-- Arguments: the folder of the package, the file.
local package, file = arg[1], arg[2]
vim.opt.runtimepath:prepend(package)
vim.opt.swapfile = false
vim.cmd('filetype plugin on')
dofile(package .. '/ftdetect/chart.lua')
vim.cmd.edit(file)
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
