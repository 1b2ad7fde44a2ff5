"""`chartc lsp`, driven by pytest-lsp as Visual Studio Code, Neovim and Emacs present themselves.

pytest-lsp also warns where an answer uses what its client has not offered to take; warnings are errors here.
CHARTC names the binary.
"""

import asyncio
import os
import pathlib

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

TEXT = """/// A door.
chart Door {
  event open
  event shut
      initial closed
  state closed { on opne -> ajar }
  state ajar { on shut -> closed }
}
"""
GOOD = TEXT.replace("opne", "open")


@pytest_lsp.fixture(
    config=ClientServerConfig(server_command=[os.environ["CHARTC"], "lsp"]),
    params=["visual-studio-code", "neovim", "emacs"],
)
async def client(request, lsp_client: LanguageClient, tmp_path_factory):
    folder = tmp_path_factory.mktemp("doors")
    (folder / "chartc.toml").write_text("")
    # Editors register what they watch; pytest-lsp leaves this to its users.
    registered = []
    lsp_client.feature(lsp.CLIENT_REGISTER_CAPABILITY)(lambda params: registered.extend(params.registrations))
    for method in (
        lsp.WORKSPACE_INLAY_HINT_REFRESH,
        lsp.WORKSPACE_CODE_LENS_REFRESH,
        lsp.WORKSPACE_SEMANTIC_TOKENS_REFRESH,
    ):
        lsp_client.feature(method)(lambda params: None)
    hello = await lsp_client.initialize_session(
        lsp.InitializeParams(
            capabilities=client_capabilities(request.param),
            workspace_folders=[lsp.WorkspaceFolder(uri=folder.as_uri(), name="doors")],
            root_uri=folder.as_uri(),
        )
    )
    lsp_client.can = hello.capabilities
    lsp_client.door = folder / "door.chart"
    lsp_client.registered = registered
    yield
    await lsp_client.shutdown_session()


def at(text: str, word: str, nth: int = 1) -> lsp.Position:
    """Where the nth place of a word begins."""
    index = -1
    for _ in range(nth):
        index = text.index(word, index + 1)
    before = text[:index]
    return lsp.Position(before.count("\n"), index - (before.rfind("\n") + 1))


def opened(client: LanguageClient, name: str, text: str) -> str:
    path: pathlib.Path = client.door.with_name(name)
    path.write_text(text)
    document = lsp.TextDocumentItem(uri=path.as_uri(), language_id="chart", version=1, text=text)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
    return path.as_uri()


async def findings(client: LanguageClient, uri: str):
    """The findings of a file, asked for or waited for, as the server has said that it works."""
    if client.can.diagnostic_provider:
        identifier = lsp.TextDocumentIdentifier(uri)
        report = await client.text_document_diagnostic_async(lsp.DocumentDiagnosticParams(identifier))
        return report.items
    while uri not in client.diagnostics:
        await asyncio.wait_for(
            client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS), timeout=30
        )
    return client.diagnostics[uri]


@pytest.mark.asyncio
async def test_a_fault_is_found_and_corrected(client: LanguageClient):
    uri = opened(client, "door.chart", TEXT)
    [found] = [d for d in await findings(client, uri) if d.severity == lsp.DiagnosticSeverity.Error]
    assert found.code == "C0102"
    assert found.range.start == at(TEXT, "opne")
    client.diagnostics.pop(uri, None)
    change = lsp.TextDocumentContentChangePartial(
        text="open", range=lsp.Range(at(TEXT, "opne"), lsp.Position(5, at(TEXT, "opne").character + 4))
    )
    client.text_document_did_change(
        lsp.DidChangeTextDocumentParams(lsp.VersionedTextDocumentIdentifier(uri=uri, version=2), [change])
    )
    assert [d.code for d in await findings(client, uri)] == []


@pytest.mark.asyncio
async def test_formatting(client: LanguageClient):
    uri = opened(client, "format.chart", GOOD)
    edits = await client.text_document_formatting_async(
        lsp.DocumentFormattingParams(
            lsp.TextDocumentIdentifier(uri), lsp.FormattingOptions(tab_size=2, insert_spaces=True)
        )
    )
    lines = GOOD.splitlines(keepends=True)
    place = lambda p: sum(map(len, lines[: p.line])) + p.character
    text = GOOD
    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        text = text[: place(edit.range.start)] + edit.new_text + text[place(edit.range.end) :]
    assert "\n  initial closed\n" in text
    assert "      initial" not in text


def about(uri: str, word: str, nth: int = 1) -> dict:
    return {"text_document": lsp.TextDocumentIdentifier(uri), "position": at(GOOD, word, nth)}


@pytest.mark.asyncio
async def test_hover(client: LanguageClient):
    uri = opened(client, "hover.chart", GOOD)
    hover = await client.text_document_hover_async(lsp.HoverParams(**about(uri, "ajar")))
    assert "ajar" in hover.contents.value
    nothing = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(99, 99))
    assert await client.text_document_hover_async(nothing) is None


@pytest.mark.asyncio
async def test_definition(client: LanguageClient):
    uri = opened(client, "definition.chart", GOOD)
    found = await client.text_document_definition_async(lsp.DefinitionParams(**about(uri, "ajar")))
    found = found[0] if isinstance(found, list) else found
    ranges = found.target_selection_range if isinstance(found, lsp.LocationLink) else found.range
    assert ranges.start == at(GOOD, "ajar", 2)


@pytest.mark.asyncio
async def test_completion(client: LanguageClient):
    uri = opened(client, "completion.chart", GOOD)
    found = await client.text_document_completion_async(lsp.CompletionParams(**about(uri, "ajar")))
    items = found.items if isinstance(found, lsp.CompletionList) else found
    assert {"ajar", "closed"} <= {item.label for item in items}


@pytest.mark.asyncio
async def test_rename(client: LanguageClient):
    uri = opened(client, "rename.chart", GOOD)
    edit = await client.text_document_rename_async(lsp.RenameParams(**about(uri, "ajar"), new_name="half_open"))
    changes = edit.changes or {c.text_document.uri: c.edits for c in edit.document_changes}
    assert sorted(e.range.start.line for e in changes[uri]) == [5, 6]
