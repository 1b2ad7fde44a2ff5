local chartc = {}

-- Whether a buffer is one for the language server: most YAML and XML is none.
function chartc.reads(buffer)
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ':t')
  return vim.bo[buffer].filetype == 'chart'
    or name:match('^agent%.ya?ml$') ~= nil
    or name:match('%.agent%.ya?ml$') ~= nil
    or name:match('%.scxml$') ~= nil
end

return chartc
