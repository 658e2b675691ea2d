"""What was measured for the pages of Stretching Jacobi: a row for each matrix of the paper, and batches of blocks."""
from dataclasses import dataclass
from typing import Any

from papers.batches import Batches

# Table I: B and R of Jacobi(32, 0.1), then of Multilevel(32, 0.1).
PUBLISHED = {
    "qpband": (-6, -8, -6, -8), "mario001": (-1, -1, -1, -1), "bab5": (-4, -1, -4, -1), "c-72": (-3, -1, -3, -1),
    "Si10H16": (-4, -3, -4, -3),
    "boyd1": (-5, -4, -5, -4), "Lin": (-4, -3, -4, -3), "map06": (-4, -2, -4, -2), "bley_xl1": (-3, -2, -3, -2),
    "c-big": (-4, -2, -4, -2),
    "co-100": (-3, -2, -3, -2), "bab3": (-3, -2, -4, -2), "G3_circuit": (-4, -3, -4, -3), "BenElechi1": (-5, -5, -5, -6),
    "af_shell7": (-5, -4, -5, -4),
}
NUMBERS = {name: k for k, name in enumerate(PUBLISHED, 1)}
NEAR = (1, 5, 6, 7, 13, 14, 15)  # close to diagonal dominance, says the paper of Figure 3a


@dataclass(frozen=True, eq=False)
class Row:
    name: str            # in the paper
    data: dict[str, Any]

    @property
    def own(self) -> bool:
        """Whether it is the paper's matrix itself."""
        return self.data["name"] in (self.name, f"{self.name}_saddle")

    @property
    def label(self) -> str:
        return f"{NUMBERS[self.name]} {self.data['name'].removesuffix('_mu1e-8')}{'' if self.own else '*'}"

    @property
    def near(self) -> bool:
        return NUMBERS[self.name] in NEAR

    @property
    def far_here(self) -> bool:
        """Its block rows, as they were measured, are on average not dominant."""
        return (self.data["dominance_grid"][1] or 0) < 0

    @property
    def published(self) -> tuple:
        return PUBLISHED[self.name] if self.own else (None,) * 4


def rows_of(results) -> list[Row]:
    return [Row(name, row) for name, j in results.each("ablate") if name in NUMBERS for row in j["rows"]]


def device_of(results) -> str:
    return next((j["device"] for _, j in results.each("ablate")), "cpu")


def kernels_of(results) -> Batches:
    return Batches.of(results, "kernels")


def batch_of(batches) -> int | None:
    """The paper's 10,000 blocks; with --quick there are fewer."""
    found = batches.values("batch", part="kernels", work="factor")
    return 10000 if 10000 in found else min(found, default=None)


def two_by_two(row) -> float:
    """Which part of the steps of an elimination have a 2x2 pivot."""
    return row["two_by_two"] / (row["rows"] - row["two_by_two"])
