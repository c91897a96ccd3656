"""Writes tables.db.gz, which the tests read: python3 tables.py."""
import gzip, os, sqlite3, sys

here = os.path.dirname(os.path.abspath(__file__))
path = os.path.join(here, "tables.db")
if os.path.exists(path):
    os.remove(path)
db = sqlite3.connect(path)
db.execute("PRAGMA page_size=512")
db.execute("CREATE TABLE numbers (id INTEGER PRIMARY KEY AUTOINCREMENT, whole INTEGER, real REAL DEFAULT NULL, word TEXT, raw BLOB, UNIQUE(word, id))")
db.execute('CREATE TABLE "keyed" (step INTEGER NOT NULL, "rank" INTEGER NOT NULL, value REAL, note TEXT, PRIMARY KEY (rank, step)) WITHOUT ROWID')
for i in range(1, 401):
    whole = (-1) ** i * (i ** (1 + i % 5))
    db.execute("INSERT INTO numbers VALUES (?, ?, ?, ?, ?)", (i, whole, None if i % 7 == 0 else i / 8, "w" * (i * 13 % 1900), bytes([i % 256]) * (i % 5)))
for rank in range(3):
    for step in range(150):
        db.execute("INSERT INTO keyed VALUES (?, ?, ?, ?)", (step, rank, step * 0.5 - rank, "n" * (step % 140)))
db.execute("ALTER TABLE keyed ADD COLUMN late INTEGER")
db.commit()
db.close()
with open(path, "rb") as f, open(path + ".gz", "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as out:
    out.write(f.read())
os.remove(path)
