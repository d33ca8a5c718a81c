mod profile;
