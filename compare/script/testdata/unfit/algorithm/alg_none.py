compare = 3
