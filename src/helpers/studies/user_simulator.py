"""A model that plays the user of an AI system: ChatBench's Two-Step simulator.

Two-Step is given a multiple-choice question. It writes a first prompt; after each reply
it either answers the question or writes the next prompt (Chang et al. 2025, section 5.1
and Figure 6). The wording of its instructions is ours.
"""

import re
from collections.abc import Callable, Sequence

import requests

from helpers.data.tables import PlainError

Message = dict[str, str]  # role, "user" or "assistant" (or "system"), and content
Chat = Callable[[list[Message]], str]

SPEAKERS = {"user": "You", "assistant": "AI"}
ROLE = """You have to answer this question, and you ask an AI system for help.

{question}"""
STEP_1 = "Write your first message to the AI system, as a person would type it."
STEP_2 = """Your conversation with the AI system so far:

{conversation}

If it answers your question, reply only "Answer: LETTER", with the letter of an option.
If not, write your next message to the AI system."""

# Marks around the letter and an explanation after it are allowed, as in "**Answer:** B"
# and "Answer: B) 8 dollars"; "Answer: A man" is no answer.
_ANSWER = re.compile(
    r"\W*answer\W*:\W*([A-D])(\W*|[.):\n].*)", re.IGNORECASE | re.DOTALL
)
_ADDRESS = re.compile(r"https?://([\w.:\[\]-]+)(/[^\s@?#]*)?")


class SimulatorError(PlainError):
    """There is no conversation or example; the message says why and what to do."""


def instructions(question: str, conversation: Sequence[Message]) -> list[Message]:
    """Tell the simulated user what to write now: step 1 or, after a reply, step 2."""
    lines = [f"{SPEAKERS[each['role']]}: {each['content']}" for each in conversation]
    step = STEP_2.format(conversation="\n\n".join(lines)) if lines else STEP_1
    return [
        {"role": "system", "content": ROLE.format(question=question)},
        {"role": "user", "content": step},
    ]


def converse(
    question: str, user: Chat, ai: Chat, max_turns: int = 10
) -> tuple[list[Message], str | None]:
    """Let a simulated user talk with an AI system until it answers the question.

    Parameters
    ----------
    question : str
        The question with its options A to D. The AI system does not see it.
    user, ai : callable
        Take a list of messages and return a text, as those that `chat` makes.
    max_turns : int, optional
        Prompts after which the conversation ends, answered or not. (The paper gives no
        limit.)

    Returns
    -------
    conversation : list of dict
        Prompts (``role`` "user") and replies ("assistant") in turn, at least one of
        each: users of the study, too, had to ask before they answered.
    letter : str or None
        The option chosen; None if the user did not answer.

    Raises
    ------
    SimulatorError
        If `max_turns` is less than 1.

    References
    ----------
    Chang et al. (2025), section 5.1.

    Examples
    --------
    >>> prompts = iter(["Is it A or B?", "Answer: B"])
    >>> converse("A or B?", user=lambda _: next(prompts), ai=lambda _: "It is B.")[1]
    'B'
    """
    if max_turns < 1:
        raise SimulatorError(f"max_turns is {max_turns}: it must be at least 1.")
    conversation: list[Message] = []
    text = user(instructions(question, conversation))
    for _ in range(max_turns):
        conversation.append({"role": "user", "content": text})
        conversation.append({"role": "assistant", "content": ai([*conversation])})
        text = user(instructions(question, conversation))
        answer = _ANSWER.fullmatch(text)
        if answer:
            return conversation, answer[1].upper()
    return conversation, None


def training_examples(
    question: str, conversation: Sequence[Message], letter: str
) -> list[dict[str, list[Message]]]:
    """Turn a conversation into examples for fine-tuning a simulated user.

    A conversation with k prompts gives k + 1 examples: one for each prompt, given the
    conversation before it, and one for the answer, given the whole conversation.

    Parameters
    ----------
    question : str
        The question with its options A to D.
    conversation : sequence of dict
        ``role`` and ``content`` of each message; the user begins.
    letter : str
        The option that the user chose.

    Returns
    -------
    list of dict
        ``messages``: the instructions, then what the user wrote, as the reply to learn.
        Save them, one JSON object a line, with
        ``pd.DataFrame(examples).to_json(file, orient="records", lines=True)``.

    Raises
    ------
    SimulatorError
        If the letter is none of A to D, the user does not begin, or a role is neither
        "user" nor "assistant".

    References
    ----------
    Chang et al. (2025), section 5.1.

    Examples
    --------
    >>> conversation = [{"role": "user", "content": "Is it A or B?"},
    ...                 {"role": "assistant", "content": "It is B."}]
    >>> examples = training_examples("A or B?", conversation, "B")
    >>> [example["messages"][-1]["content"] for example in examples]
    ['Is it A or B?', 'Answer: B']
    """
    if letter not in ("A", "B", "C", "D"):
        raise SimulatorError(f"The letter is {letter!r}: it must be A, B, C or D.")
    roles = [message["role"] for message in conversation]
    if roles[:1] != ["user"] or not set(roles) <= set(SPEAKERS):
        raise SimulatorError(
            f"The roles are {roles}: the first must be 'user', the others 'user' or "
            "'assistant'."
        )
    answer = {"role": "user", "content": f"Answer: {letter}"}
    examples = []
    for number, message in enumerate([*conversation, answer]):
        if message["role"] == "user":
            messages = instructions(question, conversation[:number])
            messages.append({"role": "assistant", "content": message["content"]})
            examples.append({"messages": messages})
    return examples


def chat(
    url: str,
    model: str,
    key: str,
    temperature: float | None = None,
    timeout: float = 60,
) -> Chat:
    """Make a callable that asks a model behind an OpenAI-compatible endpoint.

    Parameters
    ----------
    url : str
        Address of the endpoint, such as ``http://localhost:8000/v1``.
    model : str
        Name of the model.
    key : str
        Sent to the endpoint and shown nowhere; empty if the endpoint asks for none.
    temperature : float, optional
        The endpoint's own by default. The AI systems of the study had 0.7.
    timeout : float, optional
        Seconds that the endpoint may be silent.

    Returns
    -------
    callable
        Takes a list of messages and returns the reply, a text. It raises
        `SimulatorError` if there is none.

    Raises
    ------
    SimulatorError
        If `url` is no address or holds a password or a query, or if `key` cannot be
        sent.

    Examples
    --------
    >>> ai = chat("http://localhost:8000/v1", "my-model", key="")  # sends nothing yet
    """
    address = _ADDRESS.fullmatch(url)
    if not address:
        raise SimulatorError(
            "The endpoint's address must look like http://localhost:8000/v1, without "
            "user name, password and question mark."
        )
    if not re.fullmatch("[!-~]*", key):
        raise SimulatorError("The key has blanks, line breaks or letters beyond ASCII.")

    def without_key(text: str) -> str:
        return text.replace(key, "[key]") if key else text

    def authorize(request: requests.PreparedRequest) -> requests.PreparedRequest:
        if key:
            request.headers["Authorization"] = f"Bearer {key}"
        return request

    def reply(messages: list[Message]) -> str:
        body = {"model": model, "messages": messages}
        if temperature is not None:
            body["temperature"] = temperature
        text, reason = None, "no text"
        try:
            response = requests.post(
                f"{url.rstrip('/')}/chat/completions",
                json=body,
                auth=authorize,  # requests prefers ~/.netrc to a header
                timeout=timeout,
                allow_redirects=False,
            )
            if response.status_code == 200:
                text = response.json()["choices"][0]["message"]["content"]
            else:
                reason = f"status {response.status_code}"
        except (requests.RequestException, LookupError, TypeError) as error:
            reason = type(error).__name__  # its message may show the key
        if not isinstance(text, str) or not text.strip():
            message = f"No reply of model {model!r} from {address[1]} ({reason}): "
            message += "check address, key and model."
            raise SimulatorError(without_key(message))
        return without_key(text.strip())

    return reply
