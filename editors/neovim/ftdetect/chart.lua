vim.filetype.add({ extension = { chart = 'chart' } })
