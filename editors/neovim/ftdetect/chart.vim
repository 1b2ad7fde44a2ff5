autocmd BufRead,BufNewFile *.chart setfiletype chart
autocmd BufRead,BufNewFile *.scxml setfiletype xml
