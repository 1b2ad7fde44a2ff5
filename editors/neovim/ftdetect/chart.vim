autocmd BufRead,BufNewFile *.chart setfiletype chart
