// The version, here so that `--version` reads no file. A test keeps it equal to package.json.
export const version = "0.1.0"
