// A target needs a source file.
