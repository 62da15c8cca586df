/// Thrown to a person whose command needed the server.
extension UploadProblem: Error {}
