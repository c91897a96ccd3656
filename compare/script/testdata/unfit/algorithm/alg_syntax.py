def compare(
