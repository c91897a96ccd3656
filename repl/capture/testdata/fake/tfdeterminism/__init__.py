from tensorflow import note


def patch():
    note("tfdeterminism")
