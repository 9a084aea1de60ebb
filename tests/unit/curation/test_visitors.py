"""Whose address counts, directly and behind proxies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.people.accounts.visitors import address_counted

PROXY, VISITOR, FORGED = "10.0.0.1", "203.0.113.7", "198.51.100.1"


def test_without_proxies_the_header_means_nothing() -> None:
    assert address_counted(VISITOR, FORGED, proxies=0) == VISITOR


def test_behind_one_proxy_the_rightmost_entry_counts_and_what_is_left_of_it_does_not() -> None:
    assert address_counted(PROXY, f"{FORGED}, {VISITOR}", proxies=1) == VISITOR


def test_behind_two_proxies_the_second_entry_from_the_right_counts() -> None:
    assert address_counted(PROXY, f"{FORGED}, {VISITOR}, 10.0.0.2", proxies=2) == VISITOR


@pytest.mark.parametrize("header", ["", "unknown", VISITOR + ":8080", f"{VISITOR},", "999.1.1.1", "<script>"])
def test_where_the_entry_is_no_address_the_peer_counts(header: str) -> None:
    assert address_counted(PROXY, header, proxies=1) == PROXY


def test_where_a_proxy_is_missing_the_peer_counts() -> None:
    """Whoever reaches the site past the outer proxy must not choose the address that counts."""
    assert address_counted(FORGED, VISITOR, proxies=2) == FORGED


def test_addresses_of_ipv6_count_by_their_network() -> None:
    one, other = "2001:db8:1:2:aaaa::1", "2001:db8:1:2:bbbb::2"

    assert address_counted(one, "", proxies=0) == address_counted(other, "", proxies=0)
    assert address_counted(one, "", proxies=0) != address_counted("2001:db8:1:3::1", "", proxies=0)


def test_ipv4_in_the_dress_of_ipv6_counts_as_ipv4() -> None:
    """All of IPv4 would be one network otherwise."""
    assert address_counted(f"::ffff:{VISITOR}", "", proxies=0) == VISITOR


@pytest.mark.exhaustive
@given(peer=st.text(), header=st.text(), proxies=st.integers(-1, 4))
def test_nothing_that_a_visitor_sends_is_an_error(peer: str, header: str, proxies: int) -> None:
    assert isinstance(address_counted(peer, header, proxies=proxies), str)
