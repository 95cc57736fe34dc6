/** The text of `--help`. */
export const helpText = `usage: surface-mcp COMMAND

  init [FOLDER] [options]                      write a new server with tests into a folder; the default is this folder
  install CLIENT [options] --url URL           write a server into the configuration of a client
  install CLIENT [options] -- COMMAND ARGS     the same of one that the client starts
  install --list [CLIENT]                      the servers that clients have
  install --remove ALIAS [CLIENT]              remove one
  replay APP_MODULE [options]                  what an app shows by a view, and what hides the rest

clients: claude-desktop, claude-code, cursor, vscode, codex

options of init
  --template NAME     stdio (default) or express
  --package SPEC      the version of surface-mcp, or the path of its archive; the default is this version

options of install
  --surface NAME      the view to come by; a COMMAND gets it as "--surface NAME"
  --project NAME      the project to come for, in the same way
  --name ALIAS        how the client names the server
  --scope SCOPE       user (default): for you, everywhere; project: for the folder you are in
  --token-env VAR     the environment variable with the token for a URL; the token itself is never written
  --print             write what would be added, and change nothing

options of replay
  --surface NAME      the view; "default" where it is left out
  --project NAME      the project
  --principal ID      a caller with a token; the default is the local user, as over stdio
  --client NAME       the program that they ask with, as it names itself; NAME@VERSION with its version
  --user-agent TEXT   the same, as it names itself to the transport
  --scopes A,B        the scopes of the caller; only one with a token needs NAME:read and NAME:write of the surface
  --json              write JSON

  --help, --version

exit codes: 0 done, 1 refused, 2 not understood
`;
