// Kept equal to package.json by a test, so that `--version` needs to read no file.
export const version = "0.1.0"
