-- Starts the language server for charts.
if vim.g.loaded_chartc then
  return
end
vim.g.loaded_chartc = true

if vim.lsp.enable then
  vim.lsp.enable('chartc')
  return
end

-- Before Neovim 0.11 each buffer starts the server itself, or joins the one of its folder. `vim.g.chartc_cmd` names another binary.
local clients = {}

local function root(buffer)
  local file = vim.api.nvim_buf_get_name(buffer)
  local folder = file ~= '' and vim.fn.fnamemodify(file, ':p:h') or vim.fn.getcwd()
  local above = folder
  while true do
    for _, marker in ipairs({ 'chartc.toml', '.git' }) do
      if vim.fn.empty(vim.fn.glob(above .. '/' .. marker)) == 0 then
        return above
      end
    end
    local parent = vim.fn.fnamemodify(above, ':h')
    if parent == above then
      return folder
    end
    above = parent
  end
end

local function start(buffer)
  local config = { name = 'chartc', cmd = vim.g.chartc_cmd or { 'chartc', 'lsp' }, root_dir = root(buffer) }
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buffer })
    return
  end
  -- Neovim 0.7.
  local id = clients[config.root_dir]
  if not (id and vim.lsp.get_client_by_id(id)) then
    id = vim.lsp.start_client(config)
    clients[config.root_dir] = id
  end
  if id then
    vim.lsp.buf_attach_client(buffer, id)
  end
end

vim.api.nvim_create_autocmd('FileType', {
  pattern = { 'chart', 'yaml', 'xml' },
  callback = function(event)
    local buffer = event and event.buf or vim.api.nvim_get_current_buf()
    if require('chartc').reads(buffer) then
      start(buffer)
    end
  end,
})
