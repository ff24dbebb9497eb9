//! Members of etcd that die, hang and come back.
