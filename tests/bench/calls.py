"""Calls of a server with the openai package: `calls.py URL COUNT`, with the body of each request on standard input.

Prints the seconds of one call, of COUNT calls after a few that do not count.
"""

import json
import sys
import time

from openai import OpenAI

WARM = 3


def main():
    url, count = sys.argv[1], int(sys.argv[2])
    body = json.load(sys.stdin)
    client = OpenAI(base_url=url, api_key="none")
    for _ in range(WARM):
        client.chat.completions.create(**body)
    begin = time.perf_counter()
    for _ in range(count):
        json.loads(client.chat.completions.create(**body).choices[0].message.content)
    print((time.perf_counter() - begin) / count)


main()
