"""What `saddle bench blocks` measured of batches of small blocks, for the two papers that are about them."""
from dataclasses import dataclass, field

LU_PEERS = ("getrf", "getrfBatched")  # LAPACK in a loop, cuBLAS


@dataclass
class Batches:
    """Rows of all steps of some kinds; each is found by what it is."""
    device: str = "cpu"
    machine: str = ""
    rows: list[dict] = field(default_factory=list)

    @staticmethod
    def of(results, *kinds):
        found = Batches()
        for kind in kinds:
            whole = results.get(kind)
            for j in [whole] if whole else [data for _, data in results.each(kind)]:
                found.device, found.machine = j["device"], j["machine"]
                found.rows += j["rows"]
        return found

    def all(self, **wanted):
        return [r for r in self.rows if all(r[key] == value for key, value in wanted.items())]

    def row(self, name, version="default", **wanted):
        """The first such; a name, or the first of several that was measured."""
        for one in (name,) if isinstance(name, str) else name:
            found = self.all(name=one, version=version, **wanted)
            if found:
                return found[0]
        return None

    def seconds(self, name, version="default", **wanted):
        found = self.row(name, version, **wanted)
        return found["seconds"] if found else None

    def ratio(self, one, two, versions=("default", "default"), **wanted):
        """Seconds of one over those of another; None where either was not measured."""
        a, b = self.seconds(one, versions[0], **wanted), self.seconds(two, versions[1], **wanted)
        return a / b if a and b else None

    def values(self, key, **wanted):
        """The different values of a key, ascending."""
        return sorted({r[key] for r in self.all(**wanted)})

    def peer(self):
        """What stands in for the paper's batched LU."""
        return {"cuda": "cuBLAS getrfBatched"}.get(self.device, "LAPACK getrf, one block after the other")


def gflops(row):
    """Useful operations: those of the elimination that the kernel is named after."""
    return 1e-9 * row["flops"] / row["seconds"] if row else None
