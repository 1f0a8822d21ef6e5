"""Drawing of a tree: where boxes stand, what they say, how they are coloured."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

from helpers import show
from helpers.stats import aspects

FEATURES = ["factuality", "formality"]


@pytest.fixture
def ax():
    fig, axis = plt.subplots()
    yield axis
    plt.close(fig)


@pytest.fixture
def table():
    """A tree with a leaf at depth 1 and two at depth 2."""
    x = [[0, -1], [0, 1], [3, -1], [3, 1]]
    tree = DecisionTreeRegressor().fit(x, [0, 0, 2, 3], sample_weight=[500, 600, 300, 200])
    return aspects.tree_table(tree, FEATURES)


def boxes(axis):
    """Corners of the boxes, as (left, bottom)."""
    return np.array([patch.get_xy() for patch in axis.patches])


def test_leaves_stand_in_order_and_parents_midway(table):
    assert show.leaf_order(table).tolist() == [0.75, 0.0, 1.5, 1.0, 2.0]


def test_a_parent_is_always_between_its_children():
    rng = np.random.default_rng(3)
    tree = DecisionTreeRegressor(max_depth=5, random_state=0)
    tree.fit(rng.normal(size=(300, 2)), rng.normal(size=300))
    nodes = aspects.tree_table(tree, FEATURES)
    heights = show.leaf_order(nodes)
    for parent, children in nodes[nodes["parent"] >= 0].groupby("parent")["node"]:
        assert heights[children].min() < heights[parent] < heights[children].max()


def test_every_box_has_rule_mean_and_count(ax, table):
    show.draw_tree(ax, table, limits=(0, 3))
    assert [text.get_text() for text in ax.texts] == [
        "all rows\nmean 0.75, n = 1,600",
        "factuality at most 1.5\nmean 0.00, n = 1,100",
        "factuality above 1.5\nmean 2.40, n = 500",
        "formality at most 0\nmean 2.00, n = 300",
        "formality above 0\nmean 3.00, n = 200",
    ]


def test_boxes_do_not_overlap_and_lie_inside_the_axis(ax, table):
    show.draw_tree(ax, table, limits=(0, 3))
    corners = boxes(ax)
    leaves = corners[table["is_leaf"]]
    assert (np.diff(np.sort(leaves[:, 1])) > show.BOX_HEIGHT).all()
    assert (np.diff(np.unique(corners[:, 0])) > show.BOX_WIDTH).all()
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert left < corners[:, 0].min()
    assert corners[:, 0].max() + show.BOX_WIDTH < right
    assert bottom < corners[:, 1].min()
    assert corners[:, 1].max() + show.BOX_HEIGHT < top


def test_higher_means_are_darker_and_the_scale_has_ends(ax, table):
    show.draw_tree(ax, table.assign(mean=[1.0, -5.0, 0.0, 3.0, 9.0]), limits=(0, 3))
    shades = [sum(patch.get_facecolor()[:3]) for patch in ax.patches]
    assert shades[1] == shades[2] > shades[0] > shades[3] == shades[4]


def test_branches_are_as_wide_as_their_share_of_rows(ax, table):
    show.draw_tree(ax, table, limits=(0, 3))
    widths = pd.Series([line.get_linewidth() for line in ax.lines])
    expected = show.WIDEST_LINE * table["n"][1:] / 1600
    np.testing.assert_allclose(widths, expected.clip(lower=1.0))
