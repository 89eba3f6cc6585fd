"""The process against direct formulas, and its indifference to order, shifts and scales."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunebook.stats.gaussian_process import GaussianProcess, fit, shortened_tail, thinned
from tunebook.stats.kernels import Array, matern


def data(n: int = 20, d: int = 3, seed: int = 0) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    points = random.random((n, d))
    return points, np.sum((points - 0.4) ** 2, axis=1) + 0.05 * random.standard_normal(n)


def direct(process: GaussianProcess, places: Array) -> tuple[Array, Array]:
    """The textbook posterior, by loops and an explicit inverse."""
    found = process.hyperparameters

    def kernel(a: Array, b: Array) -> float:
        distance = np.sum(((a - b) / found.lengths) ** 2)
        return 1.0 + found.amplitude * float(matern(np.array([distance]))[0])

    prior = np.array([[kernel(a, b) for b in process.points] for a in process.points])
    inverse = np.linalg.inv(prior + (found.noise + 1e-8) * np.eye(len(prior)))
    cross = np.array([[kernel(a, b) for b in process.points] for a in places])
    own = np.array([[kernel(a, b) for b in places] for a in places])
    mean = process.centre + process.scale * (cross @ inverse @ process.targets)
    return mean, process.scale**2 * (own - cross @ inverse @ cross.T)


def test_the_posterior_is_that_of_the_direct_formula():
    process = fit(*data())
    places = np.random.default_rng(1).random((5, 3))
    mean, covariance = direct(process, places)
    got_mean, got_variance = process.predict(places)
    assert np.allclose(got_mean, mean) and np.allclose(process.mean(places), mean)
    assert np.allclose(got_variance, np.diag(covariance), atol=1e-10)
    assert np.allclose(process.joint(places)[1], covariance, atol=1e-10)


def test_sample_paths_have_the_moments_of_the_posterior():
    process = fit(*data())
    places = np.random.default_rng(1).random((4, 3))
    paths = process.sample(places, 20_000, np.random.default_rng(2))
    mean, covariance = process.joint(places)
    deviation = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(paths.mean(axis=0) - mean) < 0.05 * deviation)
    assert np.allclose(
        np.cov(paths.T) / np.outer(deviation, deviation),
        covariance / np.outer(deviation, deviation),
        atol=0.05,
    )


def test_leaving_one_out_is_fitting_without_it():
    process = fit(*data(12, 2))
    mean, variance = process.leave_one_out()
    kept = np.arange(12) != 4
    found = process.hyperparameters
    prior = process.covariance(process.points, process.points) + (found.noise + 1e-8) * np.eye(12)
    weights = np.linalg.solve(prior[np.ix_(kept, kept)], prior[kept, 4])
    assert mean[4] == pytest.approx(
        process.centre + process.scale * weights @ process.targets[kept]
    )
    assert variance[4] == pytest.approx(process.scale**2 * (prior[4, 4] - weights @ prior[kept, 4]))


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(16)), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_order_shift_and_scale_do_not_matter(order, shift, scale):
    points, values = data(16, 2)
    places = np.random.default_rng(1).random((6, 2))
    mean, variance = fit(points, values).predict(places)
    rows = list(order)
    other_mean, other_variance = fit(points[rows], shift + scale * values[rows]).predict(places)
    assert np.allclose((other_mean - shift) / scale, mean, atol=1e-3)
    assert np.allclose(other_variance / scale**2, variance, rtol=0.05, atol=1e-6)


def test_noise_is_found_and_a_known_one_is_kept():
    random = np.random.default_rng(3)
    points = random.random((80, 2))
    values = np.sin(4 * points[:, 0]) + 0.2 * random.standard_normal(80)
    assert fit(points, values).noise == pytest.approx(0.2, rel=0.3)
    assert fit(points, values, noise=0.4).noise == pytest.approx(0.4)


def test_means_of_repeats_are_trusted_more():
    points, values = data(20, 2)
    place = points[:1]
    once = fit(points, values, noise=0.3).predict(place)[1][0]
    often = fit(points, values, noise=0.3, repeats=np.full(20, 9)).predict(place)[1][0]
    assert often < once


def test_codes_of_categories_are_mere_names():
    random = np.random.default_rng(4)
    codes = random.integers(0, 3, 40).astype(float)
    points = np.column_stack([random.random(40), codes])
    values = points[:, 0] + np.array([0.0, 2.0, 1.0])[codes.astype(int)]
    renamed = points.copy()
    renamed[:, 1] = np.array([7.0, -2.0, 0.5])[codes.astype(int)]
    mask = [False, True]
    one, other = (fit(p, values, categories=mask) for p in (points, renamed))
    assert one.mean(np.array([[0.5, 1.0]]))[0] == pytest.approx(2.5, abs=0.1)
    assert other.mean(np.array([[0.5, -2.0]]))[0] == pytest.approx(2.5, abs=0.1)


def test_an_irrelevant_dimension_gets_a_long_length():
    random = np.random.default_rng(5)
    points = random.random((60, 2))
    lengths = fit(points, np.sin(6 * points[:, 0])).hyperparameters.lengths
    assert lengths[1] > 3 * lengths[0]


def test_many_rows_are_thinned_and_the_best_are_kept():
    points, values = data(500, 2)
    process = fit(points, values)
    assert len(process.points) == 400
    best = np.sort(values)[:200]
    assert np.allclose(process.centre + process.scale * np.sort(process.targets)[:200], best)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60), st.integers(1, 70))
def test_thinning_keeps_the_best_and_no_place_twice(values, most):
    kept = thinned(np.array(values), most)
    assert len(set(kept.tolist())) == len(kept) == min(most, len(values))
    assert min(values) in np.array(values)[kept]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_a_shortened_tail_keeps_order_and_the_good_half(values):
    losses = np.array(values)
    cut = shortened_tail(losses)
    assert np.all(np.diff(cut[np.argsort(losses, kind="stable")]) >= 0)
    good = losses <= np.median(losses)
    assert np.array_equal(cut[good], losses[good])


def test_infinite_losses_are_cut_even_if_they_are_most():
    assert shortened_tail([1.0, 2.0, np.inf, np.inf, np.inf]).tolist() == [1, 2, 2, 2, 2]


def test_constant_values_are_no_fault():
    mean, variance = fit(np.random.default_rng(0).random((8, 2)), np.full(8, 3.0)).predict(
        np.array([[0.5, 0.5]])
    )
    assert mean[0] == pytest.approx(3.0)
    assert np.isfinite(variance[0])


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(ValueError, match="3 points and 2 values"):
        fit(np.zeros((3, 1)), [1.0, 2.0])
    with pytest.raises(ValueError, match="must be finite: impute or drop"):
        fit(np.zeros((2, 1)), [1.0, np.nan])
