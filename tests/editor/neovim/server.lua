-- Drives `chartc lsp` as a person at Neovim would, and prints what comes of it, one step a line.
-- FOLDER is that with `door.chart`, CHARTC the binary. The package is installed where Neovim looks for packages.
local folder = vim.env.FOLDER
vim.opt.swapfile = false
vim.lsp.config('chartc', { cmd = { vim.env.CHARTC, 'lsp' } })
vim.cmd('edit ' .. folder .. '/door.chart')

-- Waits until something holds; gives up, loudly, after half a minute.
local function until_true(what, holds)
  if not vim.wait(30000, holds, 10) then
    print('gave up waiting: ' .. what)
    vim.cmd('cquit 1')
  end
end

local function step(name, value)
  print(name .. ': ' .. (type(value) == 'string' and value or vim.inspect(value, { newline = ' ', indent = '' })))
end

local function client()
  return vim.lsp.get_clients({ bufnr = 0, name = 'chartc' })[1]
end

-- Puts the cursor on the nth place of a word.
local function go(word, nth)
  local seen = 0
  for row, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    for column in line:gmatch('()%f[%w_]' .. word .. '%f[^%w_]') do
      seen = seen + 1
      if seen == (nth or 1) then
        vim.api.nvim_win_set_cursor(0, { row, column - 1 })
        return
      end
    end
  end
  error('no ' .. word)
end

local function ask(method, more)
  local params = vim.lsp.util.make_position_params(0, client().offset_encoding)
  local answer, fault = client():request_sync(method, vim.tbl_extend('force', params, more or {}), 30000)
  if not answer then
    print(method .. ' has no answer: ' .. tostring(fault))
    vim.cmd('cquit 1')
  end
  return answer.result, answer.err
end

until_true('the server starts', function() return client() and client().initialized end)
step('encoding', client().offset_encoding)
step('root', client().root_dir == folder and 'found' or tostring(client().root_dir))

until_true('the finding', function() return #vim.diagnostic.get(0) > 0 end)
for _, d in ipairs(vim.diagnostic.get(0)) do
  step('finding', ('%d:%d %s %s %s'):format(d.lnum + 1, d.col + 1, vim.diagnostic.severity[d.severity], d.code, d.message))
end

-- Corrected, as by typing.
go('opne')
vim.cmd('normal! ciwopen')
until_true('no finding', function() return #vim.diagnostic.get(0) == 0 end)
step('corrected', 'no finding')

go('open', 2)
local hover = ask('textDocument/hover')
step('hover', hover and hover.contents.value:gsub('\n', ' / ') or 'nothing')

go('ajar', 1)
local definition = ask('textDocument/definition')
definition = definition and (definition[1] or definition)
local range = definition and (definition.targetSelectionRange or definition.range)
step('definition', range and ('line %d'):format(range.start.line + 1) or 'nothing')

local items = ask('textDocument/completion')
items = items and (items.items or items) or {}
local labels = {}
for _, item in ipairs(items) do labels[#labels + 1] = item.label end
table.sort(labels)
step('completion', table.concat(labels, ' '))

local function places(word)
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  local _, count = text:gsub('%f[%w_]' .. word .. '%f[^%w_]', '')
  return count
end
if ask('textDocument/rename', { newName = 'half_open' }) then
  vim.lsp.buf.rename('half_open')
  until_true('the rename', function() return places('ajar') == 0 end)
end
step('rename', places('half_open') .. ' places')

vim.lsp.buf.format({ async = false, timeout_ms = 30000 })
step('formatted', '')
for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do print('  | ' .. line) end

-- Agents have the server too, and other YAML has not.
vim.cmd('edit! ' .. folder .. '/other.yaml')
vim.cmd('edit! ' .. folder .. '/agent.yaml')
until_true('the finding of the agent', function() return #vim.diagnostic.get(0) > 0 end)
step('agent', vim.diagnostic.get(0)[1].code)
step('other', #vim.lsp.get_clients({ bufnr = vim.fn.bufnr('other.yaml') }) .. ' servers')

vim.lsp.stop_client(vim.lsp.get_clients())
until_true('the server ends', function() return #vim.lsp.get_clients() == 0 end)
step('ended', 'yes')
