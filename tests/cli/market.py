"""What the checks in Python share: the lines of a Matrix Market file."""
import gzip


def lines(path):
    """The words of the banner, and those of every other line that is no comment: the first holds the sizes."""
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as text:
        banner = text.readline().lower().split()
        return banner, [line.split() for line in text if line.strip() and not line.startswith("%")]
