"""The digest of a view depends on its messages alone, however it came to be asked for."""

from inglenook.agent.views import Views
from inglenook.context.tokens import message_estimate
from inglenook.messages import Message

HISTORY = tuple(Message(role="user", text=f"message {n}") for n in range(5))


def fresh(view: tuple[Message, ...]) -> str:
    return Views().take(view).digest


def test_a_growing_view_has_the_digest_of_one_seen_at_once():
    views = Views()
    for length in range(len(HISTORY) + 1):
        assert views.take(HISTORY[:length]).digest == fresh(HISTORY[:length])


def test_a_view_that_was_rewritten_or_shortened_is_hashed_anew():
    views = Views()
    views.take(HISTORY)
    rewritten = (Message(role="system", text="so far: five messages"), *HISTORY[3:])
    assert views.take(rewritten).digest == fresh(rewritten)
    assert views.take(HISTORY[:2]).digest == fresh(HISTORY[:2])


def test_every_message_counts():
    assert len({fresh(HISTORY[:n]) for n in range(6)}) == 6
    assert fresh(HISTORY[:2]) != fresh(HISTORY[1::-1])


def test_the_size_is_that_of_the_messages_however_the_view_came_about():
    views = Views()
    for view in (HISTORY[:2], HISTORY, (*HISTORY[:1], *HISTORY[3:]), HISTORY, ()):
        assert views.take(view).tokens == sum(map(message_estimate, view))
