"""The digest of a view depends on its messages alone, however it came to be asked for."""

from inglenook.agent.view_digest import ViewDigest
from inglenook.messages import Message

HISTORY = tuple(Message(role="user", text=f"message {n}") for n in range(5))


def fresh(view: tuple[Message, ...]) -> str:
    return ViewDigest().of(view)


def test_a_growing_view_has_the_digest_of_one_seen_at_once():
    digest = ViewDigest()
    for length in range(len(HISTORY) + 1):
        assert digest.of(HISTORY[:length]) == fresh(HISTORY[:length])


def test_a_view_that_was_rewritten_or_shortened_is_hashed_anew():
    digest = ViewDigest()
    digest.of(HISTORY)
    rewritten = (Message(role="system", text="so far: five messages"), *HISTORY[3:])
    assert digest.of(rewritten) == fresh(rewritten)
    assert digest.of(HISTORY[:2]) == fresh(HISTORY[:2])


def test_every_message_counts():
    assert len({fresh(HISTORY[:n]) for n in range(6)}) == 6
    assert fresh(HISTORY[:2]) != fresh(HISTORY[1::-1])
