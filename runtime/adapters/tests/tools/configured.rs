//! Configurations, right and wrong.

use chartc_adapters::tools::Configuration;

fn read(file: &str, text: &str) -> Result<Configuration, (String, String)> {
    let variables = |name: &str| match name {
        "TOKEN" => Some("tok-0123456789".to_owned()),
        "HOME" => Some("/home/ada".to_owned()),
        _ => None,
    };
    let read = Configuration::read(file, text, "/etc".as_ref(), &variables);
    read.map_err(|fault| (fault.to_string(), fault.help))
}

#[test]
fn files_of_other_clients_are_read() {
    let common = r#"{"mcpServers": {
        "files": {"command": "npx", "args": ["-y", "x", "${HOME}"], "env": {"T": "${env:TOKEN}"}, "timeout": 3000,
                  "disabled": false, "autoApprove": ["a"], "includeTools": ["a"]},
        "off": {"command": "x", "disabled": true},
        "far": {"type": "http", "url": "https://x.test/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}}}"#;
    let names =
        |configuration: &Configuration| configuration.servers().collect::<Vec<_>>().join(" ");
    assert_eq!(read("mcp.json", common).map(|c| names(&c)), Ok("far files".into()));
    let code = "{\n  // VS Code\n  \"inputs\": [],\n  \"servers\": {\"a\": {\"type\": \"stdio\", \"command\": \"x\",},}\n}";
    assert_eq!(read("mcp.json", code).map(|c| names(&c)), Ok("a".into()));
    let told = format!("{:?}", read("mcp.json", common).expect("it is read"));
    assert!(!told.contains("tok-0123456789"), "{told}");
}

#[test]
fn what_is_wrong_has_its_place_and_a_cure() {
    for (text, message, help) in [
        ("[server.a]\ncommand = \"x\"", "t.toml:1: server: unknown key", "did you mean `servers`?"),
        (
            "[servers.a]\ncomand = \"x\"",
            "t.toml:2: servers.a.comand: unknown key",
            "did you mean `command`?",
        ),
        (
            "[servers.a]\nargs = []",
            "t.toml:1: servers.a: neither `command` nor `url`",
            "a server on this machine",
        ),
        (
            "[servers.a]\ncommand = \"x\"\nurl = \"https://x.test\"",
            "t.toml:1: servers.a: both `command`",
            "",
        ),
        (
            "[servers.a]\ncommand = \"x\"\n[servers.a.env]\nKEY = \"${MISSING}\"",
            "t.toml:4: servers.a.env.KEY: the variable `MISSING` is not set",
            "set MISSING, or write a default: ${MISSING:-…}",
        ),
        (
            "[servers.a]\ncommand = \"x\"\nargs = [\n \"${input:key}\"]",
            "t.toml:4: servers.a.args: `${input:key}` would ask a person",
            "put the value into a variable",
        ),
        (
            "[servers.a]\ntype = \"sse\"\nurl = \"https://x.test/sse\"",
            "t.toml:2: servers.a.type: the transport `sse` is gone from the protocol",
            "streamable HTTP",
        ),
        ("[servers.a]\nurl = \"ftp://x\"", "t.toml:2: servers.a.url: not an address", "http"),
        (
            "[servers.a]\ncommand = \"x\"\ntimeout = 30",
            "t.toml:3: servers.a.timeout: not a duration",
            "\"30s\"",
        ),
        (
            "[servers.\"a.b\"]\ncommand = \"x\"",
            "t.toml:1: servers.\"a.b\": the name of a server",
            "without dots",
        ),
        (
            "[tools.a]\ncommand = \"ls {x}\"",
            "t.toml:2: tools.a.command: expected a list",
            "no shell is involved",
        ),
        (
            "[tools.a]\ncommand = [\"{x}\"]",
            "t.toml:2: tools.a.command: a call must not choose the program",
            "",
        ),
        ("[tools.a]\ncommand = [\"x\", \"{y\"]", "t.toml:2: tools.a.command: `{` without `}`", ""),
        (
            "[tools.a]\nurl = \"https://{x}/y\"",
            "t.toml:2: tools.a.url: a call must not choose the server",
            "",
        ),
        (
            "[tools.a]\nmethod = \"TRACE\"\nurl = \"https://x.test\"",
            "t.toml:2: tools.a.method: unknown method",
            "",
        ),
        (
            "[servers.a]\ncommand = \"x\"\n[tools.\"a.b\"]\ncommand = [\"y\"]",
            "t.toml:3: tools.\"a.b\": the server `a` (line 1) has the tools whose names begin with `a.`",
            "rename",
        ),
        (
            "[servers.a]\ncommand = \"x\"\n[servers.a.tools]\nb = \"c\"\nd = \"c\"",
            "t.toml:5: servers.a.tools.d: `c` is `b` already",
            "",
        ),
        (
            "[servers.a]\nurl = \"https://x.test\"\nheaders = { \"a b\" = \"c\" }",
            "not a header of HTTP",
            "",
        ),
        ("a = ", "t.toml:1: ", ""),
    ] {
        let (told, cure) = read("t.toml", text).expect_err(text);
        assert!(told.contains(message), "{told}");
        assert!(cure.contains(help), "{cure}");
    }
    for (text, message) in [
        ("{}", "t.json:1: there are no `mcpServers`"),
        ("{\"mcpServers\": {}, \"servers\": {}}", "servers: a second table of servers"),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\"},\n \"a\": {\"command\": \"y\"}}}",
            "t.json:2: mcpServers.a: declared twice",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"envFile\": \".env\"}}}",
            "mcpServers.a.envFile: a file of variables is not read",
        ),
        ("{\"mcpServers\": [1]}", "mcpServers: expected a table"),
        ("{\"mcpServers\": \n", "t.json:2: "),
    ] {
        let (told, _) = read("t.json", text).expect_err(text);
        assert!(told.contains(message), "{told}");
    }
}

#[test]
fn no_beginning_of_a_file_is_too_short_to_be_told() {
    let toml = "[servers.a]\ncommand = \"x\"\nargs = [\"${HOME:-é}\"]\n[tools.\"b.c\"]\nurl = \"https://x.test/{y}\"\n";
    let json = "// é\n{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [\"\\u00e9\", /* é */ 1e9]}}}";
    for (file, text) in [("t.toml", toml), ("t.json", json)] {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            if let Err((told, _)) = read(file, &text[..end]) {
                assert!(told.starts_with(&format!("{file}:")), "{told}");
            }
        }
    }
}
