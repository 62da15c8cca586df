import GatewayModel

/// What people tell the upload and ask about it. What these return for is on the medium.
extension Store {
    /// Nil = the upload goes on.
    public func setUploadPause(_ pause: UploadPause?) throws(StoreError) {
        try write("pause the upload") { engine, _ in try UploadTable(database: engine.database).set(pause) }
    }

    public func uploadRecord() throws(StoreError) -> UploadRecord {
        try read("read how the upload went") { engine in try UploadTable(database: engine.database).read() }
    }

    /// What is still to go up, and what does not go.
    public func uploadBands() throws(StoreError) -> [UploadBand] {
        try read("list what does not go up") { engine in try KeptQuery(database: engine.database).bands() }
    }
}

extension StoreReader {
    public func uploadRecord() throws(StoreError) -> UploadRecord {
        try storing("read how the upload went", path) { try UploadTable(database: database).read() }
    }

    public func uploadBands() throws(StoreError) -> [UploadBand] {
        try storing("list what does not go up", path) { try KeptQuery(database: database).bands() }
    }
}
