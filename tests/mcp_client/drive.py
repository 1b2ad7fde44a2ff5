"""Drives `chartc serve` with the Python package `mcp`: over HTTP, where a person answers beside it, or over standard streams."""

import asyncio
import os
import sys

import httpx2
import jsonschema
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError


def expect(condition, what):
    if not condition:
        raise SystemExit(f"not as it should be: {what}")


async def called(session, tool, **arguments):
    """What a call that went well returned."""
    result = await session.call_tool(tool, arguments)
    expect(not result.is_error, (tool, arguments, result))
    return result.structured_content


async def is_refused(session, tool, **arguments):
    """Whether a call was refused, by the tool or by the protocol."""
    try:
        return (await session.call_tool(tool, arguments)).is_error
    except MCPError:
        return True


async def tools(session):
    """What it offers fits what it says of itself."""
    listed = {tool.name: tool for tool in (await session.list_tools()).tools}
    expect(list(listed) == ["Desk", "Turns", "read_run", "send_event", "list_runs"], list(listed))
    for tool in listed.values():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
    desk = jsonschema.Draft202012Validator(listed["Desk"].input_schema)
    expect(desk.is_valid({"params": {"owner": "Ada"}}), "a call of the desk fits its schema")
    expect(not desk.is_valid({"params": {"owner": 3}}), "a number does not")


async def runs(session):
    """Begins runs, sends events, is refused; leaves a run that waits for a person. Returns the id of its question."""
    read = await called(session, "Turns", run="t", params={"most": 3})
    expect(read["result"] == {"turns": 3} and read["at_rest"], read)
    read = await called(session, "Desk", run="a", params={"owner": "Ada"}, inputs={"hint": "Count again."})
    expect(read["configuration"] == ["counting"] and read["at_rest"], read)
    for _ in range(2):
        read = await called(session, "send_event", run="a", event="add", data={"by": 4}, id="one")
    expect(read["variables"]["sum"] == 4 and read["receipt"] == "handled", read)
    read = await called(session, "send_event", run="a", event="ask")
    waits = read["waits_for"][0]
    expect(waits["person"] and waits["question"] == "Is 4 right, Ada? Count again.", read)
    step, question = waits["step"], waits["id"]
    for event in (step, question, "approve", "reply", "done", ""):
        refused = await is_refused(session, "send_event", run="a", event=event, data={"verdict": "yes"})
        expect(refused, f"the event `{event}`")
    for tool in (step, question, "approve", "answer", "reply"):
        expect(await is_refused(session, tool, run="a", id=question, answer="yes"), f"the tool `{tool}`")
    expect(await is_refused(session, "Desk", params={"owner": 3}), "a number for a text")
    expect(await is_refused(session, "Desk", params={"owner": "Ada"}, more=1), "an argument that is not there")
    # A call that waits, and is given up.
    try:
        await session.call_tool("read_run", {"run": "t", "wait_seconds": 0}, read_timeout_seconds=60)
        await session.call_tool("Desk", {"params": {"owner": "Bob"}, "wait_seconds": 600}, read_timeout_seconds=0.01)
    except MCPError:
        pass
    read = await called(session, "read_run", run="a")
    expect(read["waits_for"] == [waits], "the question is as it was")
    listed = (await called(session, "list_runs"))["runs"]
    expect({"a", "t"} <= {run["run"] for run in listed}, listed)
    return question


async def over_http(url):
    token, people = os.environ["TOKEN"], os.environ["PEOPLE"]
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=90) as client:
        async with streamable_http_client(f"{url}/mcp", http_client=client) as (reading, writing, *_):
            async with ClientSession(reading, writing) as session:
                greeted = await session.initialize()
                expect(greeted.server_info.name == "chartc", greeted)
                await tools(session)
                question = await runs(session)
                answer = {"id": question, "answer": "yes"}
                reply = await client.post(f"{url}/runs/a/answers", json=answer)
                expect(reply.status_code == 403, "its own token does not answer for people")
                person = {"Authorization": f"Bearer {people}"}
                for other in ({"step": "approve"}, {"id": "approve"}, {"id": "q0000000z"}, {}):
                    reply = await client.post(f"{url}/runs/a/answers", json={**other, "answer": "yes"}, headers=person)
                    expect(reply.status_code == 409 and question in reply.json()["error"]["message"], (other, reply.text))
                reply = await client.post(f"{url}/runs/a/answers", json=answer, headers=person)
                expect(reply.status_code == 200, reply.text)
                reply = await client.post(f"{url}/runs/a/answers", json=answer, headers=person)
                expect(reply.status_code == 409, "of two answers one is taken")
                read = await called(session, "read_run", run="a", wait_seconds=60)
                expect(read["result"] == {"total": 4}, read)
    async with httpx2.AsyncClient() as client:
        reply = await client.post(f"{url}/mcp", json={})
        expect(reply.status_code == 401, "without a token nobody comes in")


async def over_stdio(program, charts):
    server = StdioServerParameters(command=program, args=["serve", *charts, "--mcp"])
    async with stdio_client(server) as (reading, writing):
        async with ClientSession(reading, writing) as session:
            greeted = await session.initialize()
            expect(greeted.server_info.name == "chartc", greeted)
            await tools(session)
            await runs(session)


def main():
    match sys.argv[1:]:
        case ["http", url]:
            asyncio.run(over_http(url))
        case ["stdio", program, *charts]:
            asyncio.run(over_stdio(program, charts))
        case _:
            raise SystemExit("drive.py http URL | drive.py stdio PROGRAM CHART...")
    print("all as it should be")


main()
